/** Long JSON texts that are not valid, nest too deeply or have too many names. */
export const refusedJSON: readonly string[] = [
  "[".repeat(100_000),
  "[".repeat(100_000) + "]".repeat(100_000),
  '{"a":'.repeat(100_000),
  "[0],".repeat(200_000),
  `{${Array.from({ length: 80_000 }, (_, at) => `"${at}k":1`).join(",")}}`,
];

/** Long JSON texts, all of them. */
export const hostileJSON: readonly string[] = [
  ...refusedJSON,
  `[${"1,".repeat(500_000)}1]`,
  `"${"\\u0041".repeat(170_000)}"`,
];

const pieces = ["<!--", "<?", "<?a ", "<![CDATA[", "<a ", "<a b='", "&#", "&amp", "<!", "<a x='1' "];

/** Long XML texts that end early or have too many names. */
export const refusedXML: readonly string[] = [
  "<a>".repeat(300_000),
  ...pieces.map((piece) => `<a>${piece.repeat(1_000_000 / piece.length)}`),
  `<a>${"<b>x</b>".repeat(20_000)}</a>`,
];

/** Long XML texts, all of them. */
export const hostileXML: readonly string[] = [
  ...refusedXML,
  `<a><b>${"&amp;".repeat(200_000)}</b></a>`,
  `<a><b>${"<![CDATA[]]>".repeat(80_000)}</b></a>`,
  `<a><b>${"x".repeat(1_000_000)}</b></a>`,
  `<a><l>${"<i>x</i>".repeat(20_000)}</l></a>`,
];
