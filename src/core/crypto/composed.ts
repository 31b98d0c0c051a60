/** UAX #15 §13: no language needs more marks on one letter. */
const MOST_MARKS = 30;
// All marks except the joiner that separates them.
const MARKS = /[\p{M}--\u034f]+/gv;
const MARKS_AT_ONCE = /.{30}(?=.)/gsu;
// Most compared texts are ASCII, and ICU would take ten times as long to say so.
const ASCII = /^[\0-\x7f]*$/;

/**
 * Returns text in Normalization Form C, so that texts that look the same are equal. ICU sorts the marks on one letter, and takes seconds
 * for 64 KiB of them. So runs of more than 30 marks are split first, as in the Stream-Safe Text Format (UAX #15 §13), and the time is
 * linear.
 */
export function composed(text: string): string {
  if (ASCII.test(text)) return text;
  const safe = text.length > MOST_MARKS ? text.replace(MARKS, parted) : text;
  return safe.normalize("NFC");
}

/** Returns marks with a combining grapheme joiner after every 30, which no mark can cross. */
function parted(marks: string): string {
  return marks.length > MOST_MARKS ? marks.replace(MARKS_AT_ONCE, "$&\u034f") : marks;
}
