package channel

import (
	"fmt"
	"reflect"
	"sync"
)

// capability is one event that a handler can take; a set of them is a bit mask.
type capability uint32

const (
	capRegistered capability = 1 << iota
	capActive
	capRead
	capReadComplete
	capEvent
	capWritability
	capShutdown
	capInactive
	capUnregistered
	capError
	capBind
	capConnect
	capDisconnect
	capClose
	capOutShutdown
	capRegister
	capDeregister
	capOutRead
	capWrite
	capFlush
	capSendEvent
	capAdded
	capRemoved
)

// capOutbound has the outbound operations.
const capOutbound = capBind | capConnect | capDisconnect | capClose | capOutShutdown | capRegister |
	capDeregister | capOutRead | capWrite | capFlush | capSendEvent

type methodRule struct {
	name string
	cap  capability
	typ  reflect.Type
}

func rule[T any](name string, c capability) methodRule {
	return methodRule{name, c, reflect.TypeFor[T]()}
}

// methodRules has one row for each handler interface.
var methodRules = []methodRule{
	rule[RegisteredHandler]("OnRegistered", capRegistered),
	rule[ActiveHandler]("OnActive", capActive),
	rule[ReadHandler]("OnRead", capRead),
	rule[ReadCompleteHandler]("OnReadComplete", capReadComplete),
	rule[EventHandler]("OnEvent", capEvent),
	rule[WritabilityHandler]("OnWritability", capWritability),
	rule[ShutdownHandler]("OnShutdown", capShutdown),
	rule[InactiveHandler]("OnInactive", capInactive),
	rule[UnregisteredHandler]("OnUnregistered", capUnregistered),
	rule[ErrorHandler]("OnError", capError),
	rule[BindHandler]("Bind", capBind),
	rule[ConnectHandler]("Connect", capConnect),
	rule[DisconnectHandler]("Disconnect", capDisconnect),
	rule[CloseHandler]("Close", capClose),
	rule[OutboundShutdownHandler]("Shutdown", capOutShutdown),
	rule[RegisterHandler]("Register", capRegister),
	rule[DeregisterHandler]("Deregister", capDeregister),
	rule[OutboundReadHandler]("Read", capOutRead),
	rule[WriteHandler]("Write", capWrite),
	rule[FlushHandler]("Flush", capFlush),
	rule[SendEventHandler]("SendEvent", capSendEvent),
	rule[AddedHandler]("Added", capAdded),
	rule[RemovedHandler]("Removed", capRemoved),
}

type typeCapabilities struct {
	caps capability
	err  error
}

// knownTypes remembers the outcome for each handler type, since a server adds the same
// few types once for every connection. It only caches a pure function.
var knownTypes sync.Map // reflect.Type -> typeCapabilities

// capabilitiesOf returns the events that h takes. It fails for a value that takes none,
// and for one whose method has a handler method's name and first argument but the wrong
// signature, which would otherwise be passed by in silence.
func capabilitiesOf(h any) (capability, error) {
	t := reflect.TypeOf(h)
	if t == nil {
		return 0, fmt.Errorf("channel: handler: is nil")
	}
	if known, ok := knownTypes.Load(t); ok {
		k := known.(typeCapabilities)
		return k.caps, k.err
	}
	caps, err := inspect(t)
	knownTypes.Store(t, typeCapabilities{caps, err})
	return caps, err
}

func inspect(t reflect.Type) (capability, error) {
	var caps capability
	for _, r := range methodRules {
		if t.Implements(r.typ) {
			caps |= r.cap
			continue
		}
		if m, ok := t.MethodByName(r.name); ok && takesContext(m.Type) {
			want := r.typ.Method(0).Type
			return 0, fmt.Errorf("channel: handler: %v has a method %s that is not %v", t, r.name, want)
		}
	}
	if caps == 0 {
		return 0, fmt.Errorf("channel: handler: %v has no handler method", t)
	}
	return caps, nil
}

// takesContext tells a misspelt handler method from an unrelated one with the same name,
// such as an io.Closer's Close. Argument 0 is the receiver.
func takesContext(m reflect.Type) bool {
	return m.NumIn() > 1 && m.In(1) == reflect.TypeFor[*Context]()
}
