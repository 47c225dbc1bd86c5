// Package result has what the lab measured: topics with their benchmarks and every value of
// every repetition. It groups benchmarks into rows of alternatives, and computes medians,
// confidence intervals and the significance of differences with benchstat's own package.
package result
