module millrace.dev

go 1.26.0

require (
	golang.org/x/net v0.62.0 // tests compare with it
	golang.org/x/sys v0.50.0
)

require golang.org/x/text v0.43.0 // indirect
