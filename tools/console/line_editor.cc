#include "tools/console/line_editor.h"

#include <histedit.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/base/check.h"
#include "programs/console/text.h"
#include "tools/console/history_file.h"
#include "tools/console/terminal_input.h"

namespace liststore {
namespace {

constexpr size_t kSuggestionsMax = 100;
constexpr size_t kColumnsOfNoTerminal = 80;

size_t TerminalColumns() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kColumnsOfNoTerminal;
  }
  return size.ws_col;
}

// In columns, from top to bottom. Names may hold what would move the cursor.
void ShowSuggestions(const std::vector<std::string>& words) {
  const size_t shown = std::min(words.size(), kSuggestionsMax);
  size_t width = 0;
  for (size_t i = 0; i < shown; ++i) width = std::max(width, Columns(words[i]) + 2);
  const size_t columns = std::max<size_t>(1, TerminalColumns() / width);
  const size_t lines = (shown + columns - 1) / columns;
  std::string text = "\n";
  for (size_t line = 0; line < lines; ++line) {
    for (size_t i = line; i < shown; i += lines) {
      const std::string word = Printable(words[i], words[i].size() * 4);
      text += i + lines < shown ? Padded(word, width) : word;
    }
    text += '\n';
  }
  if (words.size() > shown) text += "and " + std::to_string(words.size() - shown) + " more\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

struct LineEditor::Parts {
  explicit Parts(Completer given) : completer(std::move(given)) {}

  static Parts& Of(EditLine* editor) {
    void* parts = nullptr;
    el_get(editor, EL_CLIENTDATA, &parts);
    return *static_cast<Parts*>(parts);
  }
  static char* Prompt(EditLine* editor) { return Of(editor).prompt.data(); }
  static unsigned char Cancel(EditLine* editor, int) {
    Of(editor).cancelled = true;
    std::fputs("^C\n", stdout);
    return CC_NEWLINE;
  }
  // libedit's own handler works once for each line, so the terminal is put right here. All of the process
  // group stop, as by the terminal: a script that runs this too.
  static unsigned char Suspend(EditLine* editor, int) {
    struct sigaction stop = {}, before = {};
    stop.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &stop, &before);
    el_set(editor, EL_PREP_TERM, 0);
    ::kill(0, SIGTSTP);
    el_set(editor, EL_PREP_TERM, 1);
    ::sigaction(SIGTSTP, &before, nullptr);
    return CC_REDISPLAY;
  }
  static unsigned char Insert(EditLine* editor, const char* text) {
    return el_insertstr(editor, text) == 0 ? CC_REFRESH : CC_ERROR;
  }
  static unsigned char Complete(EditLine* editor, int) {
    // What is pasted is taken as it is: nobody waits for an answer there.
    if (PendingBytes() > 0) return Insert(editor, "\t");
    const LineInfo* const info = el_line(editor);
    const std::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    const std::string_view behind(info->cursor, static_cast<size_t>(info->lastchar - info->cursor));
    const Completion completion = Of(editor).completer(before, behind);
    const std::string_view word = before.substr(completion.begin);
    if (completion.words.empty()) {
      return word.empty() ? Insert(editor, "\t") : static_cast<unsigned char>(CC_REFRESH_BEEP);
    }
    std::string text = CommonBeginning(completion.words);
    if (text.size() <= word.size() && completion.words.size() > 1) {
      ShowSuggestions(completion.words);
      return CC_REDISPLAY;
    }
    // A keyspace is followed by its table, which comes with the next one.
    if (completion.words.size() == 1 && text.back() != '.') text += ' ';
    // Of a line that has no room for it the word stays.
    const int word_length = static_cast<int>(Columns(word));
    if (Insert(editor, text.c_str()) == CC_ERROR) return CC_ERROR;
    if (word_length == 0) return CC_REFRESH;
    const int length = static_cast<int>(Columns(text));
    el_cursor(editor, -length);
    el_deletestr(editor, word_length);
    el_cursor(editor, length);
    return CC_REFRESH;
  }

  const Completer completer;
  std::string prompt;
  bool cancelled = false;
  EditLine* editor = nullptr;
  History* history = nullptr;
};

LineEditor::LineEditor(Completer completer)
    : parts_(std::make_unique<Parts>(std::move(completer))) {
  EditLine* const editor = el_init("liststore", stdin, stdout, stderr);
  History* const past = history_init();
  LS_CHECK(editor != nullptr && past != nullptr, "a terminal's line editor can be made");
  parts_->editor = editor;
  parts_->history = past;
  HistEvent event;
  history(past, &event, H_SETSIZE, static_cast<int>(HistoryFile::kEntriesMax));
  history(past, &event, H_SETUNIQUE, 1);
  el_set(editor, EL_CLIENTDATA, parts_.get());
  el_set(editor, EL_PROMPT, &Parts::Prompt);
  // Puts the terminal right again before a signal ends the program, and follows its size.
  el_set(editor, EL_SIGNAL, 1);
  el_set(editor, EL_HIST, history, past);
  el_set(editor, EL_EDITOR, "emacs");
  el_source(editor, nullptr);
  el_set(editor, EL_ADDFN, "liststore-complete", "Complete the word", &Parts::Complete);
  // Ctrl-C is a key while a line is edited: a signal would have to leave libedit by a jump. So Ctrl-Z is one too.
  el_set(editor, EL_ADDFN, "liststore-cancel", "Cancel the input", &Parts::Cancel);
  el_set(editor, EL_ADDFN, "liststore-suspend", "Stop, until the shell goes on", &Parts::Suspend);
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  for (const auto& [key, function] : {std::pair{"^I", "liststore-complete"},
                                      {"^R", "em-inc-search-prev"},
                                      {"^C", "liststore-cancel"},
                                      {"^Z", "liststore-suspend"}}) {
    el_set(editor, EL_BIND, key, function, nullptr);
    // Of vi's command mode, which ~/.editrc may ask for.
    el_set(editor, EL_BIND, "-a", key, function, nullptr);
  }
}

LineEditor::~LineEditor() {
  history_end(parts_->history);
  el_end(parts_->editor);
}

LineEditor::Outcome LineEditor::Read(const std::string& prompt, std::string* line) {
  parts_->prompt = prompt;
  parts_->cancelled = false;
  // Before the prompt, which el_gets shows first: what is typed as soon as it is seen are keys already.
  el_set(parts_->editor, EL_PREP_TERM, 1);
  int length = 0;
  const char* const text = el_gets(parts_->editor, &length);
  if (parts_->cancelled) return Outcome::kCancelled;
  if (text == nullptr || length <= 0) return Outcome::kEnd;
  line->assign(text, static_cast<size_t>(length));
  if (line->back() == '\n') line->pop_back();
  return Outcome::kLine;
}

void LineEditor::Push(const std::string& keys) { el_push(parts_->editor, keys.c_str()); }

void LineEditor::AddToHistory(const std::string& entry) {
  HistEvent event;
  history(parts_->history, &event, H_ENTER, entry.c_str());
}

}  // namespace liststore
