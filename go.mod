module millrace.dev

go 1.26.0
