package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// flagSet is a command's flags with the help that explains them, in the order in which they
// were added and under headings.
type flagSet struct {
	set   *flag.FlagSet
	intro string
	outro string
	lines []helpLine
}

// helpLine is a heading, if name is empty, or a flag.
type helpLine struct{ name, argument, text string }

func newFlagSet(name, intro, outro string) *flagSet {
	f := &flagSet{set: flag.NewFlagSet(name, flag.ContinueOnError), intro: intro, outro: outro}
	f.set.SetOutput(io.Discard) // errors and help are written here
	return f
}

func (f *flagSet) heading(text string) { f.lines = append(f.lines, helpLine{text: text}) }

// add adds a flag. argument is what its value is called in the help, empty for a switch.
func (f *flagSet) add(v flag.Value, name, argument, text string) {
	f.set.Var(v, name, text)
	f.lines = append(f.lines, helpLine{name, argument, text})
}

// choose adds a flag whose values are a few words.
func (f *flagSet) choose(v *choiceValue, name, text string) {
	f.add(v, name, strings.Join(v.words, "|"), text)
}

// help writes everything about the command.
func (f *flagSet) help(w io.Writer) {
	fmt.Fprint(w, f.intro)
	for _, l := range f.lines {
		if l.name == "" {
			fmt.Fprintf(w, "\n%s:\n", l.text)
			continue
		}
		words := strings.Fields(l.text)
		if d := f.set.Lookup(l.name).DefValue; d != "" && l.argument != "" {
			words = append(words, "(default "+d+")")
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight("--"+l.name+" "+l.argument, " "))
		for _, line := range wrap(words, 76) {
			fmt.Fprintf(w, "        %s\n", line)
		}
	}
	fmt.Fprint(w, f.outro)
}

// wrap sets words in lines of up to width bytes.
func wrap(words []string, width int) (lines []string) {
	line := ""
	for _, word := range words {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
