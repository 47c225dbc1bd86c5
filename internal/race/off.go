//go:build !race

package race

// Enabled says that the race detector is built in.
const Enabled = false
