// Package notes reads what stands beside the benchmarks of a topic: its title, what was
// compared and chosen, the figures that the project's origin reported, and the targets. It
// also judges them by what was measured.
//
// A file of notes is Markdown. Its first line is "# Title"; then come paragraphs. A line
// that begins with "figure:" or "target:" is no part of them:
//
//	figure: LABEL | REPORTED NAIVE | REPORTED CHOSEN | BENCHMARK OF NAIVE | BENCHMARK OF CHOSEN
//	target: LABEL | QUANTITY<=LIMIT | BENCHMARK [| REFERENCE]
//
// Benchmarks are named in full, without "Benchmark": Hex/op=encode/alt=table. Whether more
// of a figure is better follows from the unit in its label, "(ops/µs)" or "(ns)"; more is
// better where there is none. A quantity is ns, us, ms (each per operation), B, allocs, any
// unit that the benchmark reports, or ratio: the reference's time by the benchmark's. The
// reference is the first alternative of the row unless it is named. The operators are <= and
// >=, < and >.
package notes
