// Package logging logs what passes through a pipeline, with log/slog: every event and
// operation, how many bytes, and on request the first of them.
package logging
