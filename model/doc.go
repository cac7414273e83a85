// Package model is the learning half of kith: it scores candidate links of a node and learns from outcomes.
package model
