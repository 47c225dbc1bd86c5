// Command attack plays attacks on HTTP/2 servers against a server on this machine, each for a
// bounded time, and reports what they cost it: processor time, memory, and whether the
// connection was ended with the right code. It takes no addresses but those of the loopback
// interface. Run it in bench/:
//
//	go run ./attack -list
//	go run ./attack -attack rapid-reset -addr 127.0.0.1:8080 -pid 1234
//	go run ./attack -all -servers millrace,nethttp
//
// With -all it starts the servers of peers/ itself, and nginx where that is installed and
// asked for, a new process for each attack, and prints a table. Linux only.
package main
