// Package hex writes bytes as hexadecimal digits and reads them back, from and into buffers,
// and dumps them for people to read.
//
// [Pair] and [Digit] are for those who meet digits in other text, such as the escapes of a URL.
//
// Digits come from and go through tables, so that the cost depends on the number of bytes
// alone and not on what they are. It writes lower-case digits and reads either case, and fails
// with the errors of encoding/hex.
package hex
