// Package site is what the tool answers: the endpoints of millrace serve, as one native
// handler of package httpserver. Everything runs on the connections' loops but the opening
// of files, which may wait for a disk and so is done by workers.
package site
