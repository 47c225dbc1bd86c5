// Package command is the millrace tool without its process: Run takes the arguments, a
// context that ends it, and where to write, and returns the exit code. So tests run the tool
// as it is.
package command
