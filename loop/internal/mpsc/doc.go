// Package mpsc is the queue of tasks in front of a loop: any goroutine pushes, one pops.
//
// Producers push on a Treiber stack, which needs one successful compare-and-swap and has no
// moment in which a preempted producer hides the tasks of others. The consumer takes the whole
// stack at once and turns it round, so the order is first in, first out, and there is no ABA
// problem because nobody pops single nodes. Every node notes how deep the stack is below it, so a
// bound on the queue needs no counter that all producers would fight for.
package mpsc
