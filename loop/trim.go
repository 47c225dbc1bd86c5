package loop

// trimTask has a loop that has been idle return its spare memory, and notes in which turn that
// was.
type trimTask Loop

// RunTask runs on the loop.
func (t *trimTask) RunTask() {
	l := (*Loop)(t)
	l.trimmed.Store(l.turn.Load())
	l.stop.seen++ // housekeeping does not prolong a quiet period
	l.trimLocals()
	if l.cache != nil {
		l.cache.Trim()
	}
}
