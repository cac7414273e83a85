//go:build race

package db_test

const raceDetector = true
