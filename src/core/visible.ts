// Matches three kinds of characters: C0, DEL and C1, which control terminals; the separators that some programs treat
// as line ends; and the characters that change the direction of text (Bidi_Control in Unicode).
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_CONTROLS = new RegExp(CONTROLS, "g");
const ALL_BUT_LINES = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes a text safe for a terminal or a log. Each control character, also a line end, becomes `\u` and four digits.
 * JSON text on one line keeps its value, because JSON has the same escape.
 */
export function visible(text: string): string {
  return CONTROLS.test(text) ? text.replace(ALL_CONTROLS, escaped) : text;
}

/**
 * Makes a text of several lines safe for a terminal. Keeps tabs and line ends. Escapes all other control characters.
 */
export function visibleLines(text: string): string {
  return CONTROLS.test(text) ? text.replace(ALL_BUT_LINES, escaped) : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
