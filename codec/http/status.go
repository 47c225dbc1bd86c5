package http

// StatusText returns the usual reason phrase of a status code (RFC 9110 section 15 and
// the IANA registry), "" if the code is not registered.
func StatusText(code int) string {
	if code < 100 || code-100 >= len(statusTexts) {
		return ""
	}
	return statusTexts[code-100]
}

// BodyAllowed reports whether an answer of that status may have content: not 1xx, 204
// and 304, RFC 9110 section 6.4.1. (An answer to HEAD never has any.)
func BodyAllowed(code int) bool { return code >= 200 && code != 204 && code != 304 }

var statusTexts = [412]string{
	0:   "Continue",
	1:   "Switching Protocols",
	2:   "Processing",
	3:   "Early Hints",
	100: "OK",
	101: "Created",
	102: "Accepted",
	103: "Non-Authoritative Information",
	104: "No Content",
	105: "Reset Content",
	106: "Partial Content",
	107: "Multi-Status",
	108: "Already Reported",
	126: "IM Used",
	200: "Multiple Choices",
	201: "Moved Permanently",
	202: "Found",
	203: "See Other",
	204: "Not Modified",
	205: "Use Proxy",
	207: "Temporary Redirect",
	208: "Permanent Redirect",
	300: "Bad Request",
	301: "Unauthorized",
	302: "Payment Required",
	303: "Forbidden",
	304: "Not Found",
	305: "Method Not Allowed",
	306: "Not Acceptable",
	307: "Proxy Authentication Required",
	308: "Request Timeout",
	309: "Conflict",
	310: "Gone",
	311: "Length Required",
	312: "Precondition Failed",
	313: "Content Too Large",
	314: "URI Too Long",
	315: "Unsupported Media Type",
	316: "Range Not Satisfiable",
	317: "Expectation Failed",
	321: "Misdirected Request",
	322: "Unprocessable Content",
	323: "Locked",
	324: "Failed Dependency",
	325: "Too Early",
	326: "Upgrade Required",
	328: "Precondition Required",
	329: "Too Many Requests",
	331: "Request Header Fields Too Large",
	351: "Unavailable For Legal Reasons",
	400: "Internal Server Error",
	401: "Not Implemented",
	402: "Bad Gateway",
	403: "Service Unavailable",
	404: "Gateway Timeout",
	405: "HTTP Version Not Supported",
	406: "Variant Also Negotiates",
	407: "Insufficient Storage",
	408: "Loop Detected",
	410: "Not Extended",
	411: "Network Authentication Required",
}
