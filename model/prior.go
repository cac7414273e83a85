package model

// prior estimates, from the structural block alone, how likely a link is: what a model without any training ranks by.
func prior(s []float32) float64 {
	near := float64(s[colTo]+s[colFrom]) / 2
	return 0.5*near + 0.1*float64(s[colAdamic]) + 0.2*float64(s[colResource])
}
