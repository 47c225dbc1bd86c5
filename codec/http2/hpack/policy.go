package hpack

// Indexing says how a field is written when no table has it, RFC 7541 section 6.2.
type Indexing uint8

const (
	// Incremental puts the field into the dynamic table of both ends, so that it takes a
	// byte or two when it is sent again.
	Incremental Indexing = iota
	// Without is for values that are hardly ever sent twice: the field doesn't enter the
	// dynamic table, nor is it looked for there. Only when no table has its name it enters
	// once, so that the name takes a byte or two from then on.
	Without
	// Never says also that nobody who forwards the field may index it. Such a field isn't
	// looked for in the dynamic table either. It is for what must not be found out by
	// guessing and watching lengths (RFC 7541 section 7.1).
	Never
)

// minCookie is the length from which a cookie can't be found out by guessing it as a whole.
const minCookie = 20

// policies has the policy for the names of the static table, by their first index there. All
// names that are an exception have one.
var policies = buildPolicies()

func buildPolicies() (p [staticCount + 1]Indexing) {
	set := func(how Indexing, names ...string) {
		for _, name := range names {
			p[staticName([]byte(name))] = how
		}
	}
	set(Never, "authorization", "proxy-authorization", "set-cookie")
	set(Without, ":path", "age", "content-length", "content-range", "etag", "expires", "if-match",
		"if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified",
		"location", "range")
	return p
}

// policyOf returns the policy for a name by its first static index, or 0.
func policyOf(static uint8, value []byte) Indexing {
	if static == staticCookie && len(value) < minCookie {
		return Never
	}
	return policies[static]
}
