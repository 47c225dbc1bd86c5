package http

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace.dev/codec/internal/octet"
)

// headerModel is a Header as one would write it first.
type headerModel [][2]string

func (m *headerModel) set(name, value string) {
	first := slices.IndexFunc(*m, func(f [2]string) bool { return strings.EqualFold(f[0], name) })
	if first < 0 {
		*m = append(*m, [2]string{name, value})
		return
	}
	rest := (*m)[first+1:]
	*m = append((*m)[:first:first], [2]string{name, value})
	for _, f := range rest {
		if !strings.EqualFold(f[0], name) {
			*m = append(*m, f)
		}
	}
}

func (m *headerModel) del(name string) {
	*m = slices.DeleteFunc(*m, func(f [2]string) bool { return strings.EqualFold(f[0], name) })
}

// compare says in which respect a Header differs from the model.
func (m headerModel) compare(h *Header) string {
	lines, bad := "", false
	count := map[string]int{}
	for i, f := range m {
		if i >= h.Len() {
			return "too few fields"
		}
		if name, value := h.At(i); string(name) != f[0] || string(value) != f[1] || h.FieldAt(i) != FieldOf(f[0]) {
			return "field " + f[0] + " is " + string(name) + " = " + string(value)
		}
		lines += f[0] + ": " + f[1] + "\r\n"
		bad = bad || !octet.IsToken(f[0]) || !octet.IsValue(f[1])
		if count[strings.ToLower(f[0])]++; count[strings.ToLower(f[0])] == 1 && string(h.Value(strings.ToUpper(f[0]))) != f[1] {
			return "Value of " + f[0]
		}
	}
	switch got, ok := h.Lines(); {
	case h.Len() != len(m):
		return "too many fields"
	case (h.Err() != nil) != bad:
		return "Err"
	case ok && string(got) != lines:
		return "Lines: " + string(got)
	}
	for f := FieldOther + 1; f < fieldCount; f++ {
		n := count[strings.ToLower(f.String())]
		if h.HasField(f) != (n > 0) || h.Repeated(f) != (n > 1) || h.Has(f.String()) != (n > 0) {
			return "what is known of " + f.String()
		}
	}
	return ""
}

func TestHeaderAgainstModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"Host", "HOST", "Via", "accept", "X-One", "x-one", "X-Two", "bad name"}
	values := []string{"", "a", "bb", "a longer value", "with\na line end"}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	for range 300 {
		h, other := new(Header), new(Header)
		var model, otherModel headerModel
		for step := range 40 {
			name, value := pick(names), pick(values)
			op := r.IntN(12)
			switch op {
			case 0, 1, 2, 3:
				h.Add(name, value)
				model = append(model, [2]string{name, value})
			case 4, 5:
				h.Set(name, value)
				model.set(name, value)
			case 6:
				h.Del(name)
				model.del(name)
			case 7, 8:
				other.AddBytes([]byte(name), []byte(value))
				otherModel = append(otherModel, [2]string{name, value})
			case 9:
				h.CopyFrom(other)
				model = append(model, otherModel...)
			case 10:
				h, other = other, h
				model, otherModel = otherModel, model
			default:
				if r.IntN(4) > 0 {
					continue
				}
				h.Reset()
				model = nil
			}
			if wrong := model.compare(h); wrong != "" {
				t.Fatalf("step %d, operation %d with %q: %q: %s", step, op, name, value, wrong)
			}
		}
	}
}
