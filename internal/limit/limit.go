package limit

// Effective returns the bound that an option's value means: byDefault for 0, none for less, and
// otherwise the value itself.
func Effective[T ~int | ~int64](value, byDefault, none T) T {
	switch {
	case value == 0:
		return byDefault
	case value < 0:
		return none
	}
	return value
}
