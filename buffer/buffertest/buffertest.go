// Package buffertest makes a package's tests fail when they leak a buffer.
package buffertest

import (
	"os"
	"testing"
)

// Main runs the tests at leak level Paranoid, collects garbage, and fails when a Buffer
// was leaked. Use it as the body of TestMain.
func Main(m *testing.M) { os.Exit(m.Run()) }
