package loop

import "time"

type (
	groupMemory struct{}
	idleState   struct{}
)

func (m *groupMemory) init(*Options)        {}
func (l *Loop) initAllocator(*groupMemory)  {}
func (l *Loop) allocatorBind()              {}
func (l *Loop) allocatorUnbind()            {}
func (l *Loop) idleDeadline() time.Duration { return never }
