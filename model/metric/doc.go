// Package metric measures predictions: how well scores rank the links, and how well probabilities
// are calibrated.
package metric
