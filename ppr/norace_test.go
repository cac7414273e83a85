//go:build !race

package ppr

const raceDetector = false
