/** UAX #15 §13: no language needs more of them on one letter. */
const MOST_MARKS = 30;
// But for the joiner that parts them.
const MARKS = /[\p{M}--\u034f]+/gv;
const MARKS_AT_ONCE = /.{30}(?=.)/gsu;
// Most of what is compared is, and to be told so by ICU takes ten times as long.
const ASCII = /^[\0-\x7f]*$/;

/**
 * Text in Normalization Form C, so that what looks alike is alike. ICU sorts the marks on one letter, and takes seconds for 64 KiB
 * of them; so runs of more than 30 are parted first, as in the Stream-Safe Text Format (UAX #15 §13), and it takes as long as the text.
 */
export function composed(text: string): string {
  if (ASCII.test(text)) return text;
  const safe = text.length > MOST_MARKS ? text.replace(MARKS, parted) : text;
  return safe.normalize("NFC");
}

/** With a combining grapheme joiner after every 30 marks, across which none is moved. */
function parted(marks: string): string {
  return marks.length > MOST_MARKS ? marks.replace(MARKS_AT_ONCE, "$&\u034f") : marks;
}
