// How a terminal is told what to do, where the machine does not know the one that is used.
#ifndef LISTSTORE_TOOLS_CONSOLE_TERMINAL_DESCRIPTION_H_
#define LISTSTORE_TOOLS_CONSOLE_TERMINAL_DESCRIPTION_H_

namespace liststore {

// Before the line editor is made, and before there are other threads: it changes TERM and TERMINFO of this process where
// no terminfo database describes TERM. That is so in a container with nothing but the program, and for terminals
// that are younger than the machine. They are then taken for an xterm, as which they all can be addressed. A terminal
// that is "dumb", or not named, is left as it is.
void DescribeUnknownTerminal();

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_TERMINAL_DESCRIPTION_H_
