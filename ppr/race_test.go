//go:build race

package ppr

const raceDetector = true
