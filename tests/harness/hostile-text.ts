import { slowness } from "./slowness.ts";

const hostileLength = 64 * 1024;

const units = [
  ..." \t,;=&+%.-_/\\\"'<>[]{}()@:~!?#*|^$`0a1A9Zfx",
  "\u0000",
  "\u00a0",
  "\u00e9",
  "\u3000",
  "\ud800",
  "\u{1f600}",
  "a=",
  "a=1,",
  "a,",
  ", ",
  " ,",
  "; ",
  "=a",
  "a.",
  "a-",
  "a_",
  "a@",
  "a/b,",
  "a;q=0.1,",
  '"a"',
  '",',
  'a="',
  '\\"',
  "\\a",
  "\\\\",
  "[a]",
  "a&",
  "a=b&",
  "%41",
  "%C3%A9+",
  "&amp;",
  "&#38;",
  "<a>",
  "</a>",
  "1.",
  "0.0",
  "00",
  "~0",
  "~1/",
  "/a",
  "lk_",
  "lk_a ",
  'W/"a", ',
  "1.2.3.4, ",
  "::1,",
  "a:",
  "2026-",
  "\r\n",
  // Combining marks in the wrong order, so that normalization must sort them.
  "\u0315\u0300",
];

const prefixes = ["a=", '"', "a=b ", "0.", "1.", "a", "/", "lk_", "<", "[", "a/b; q=", "[IPv6:"];
const suffixes = ["", "\u0000", "!", '"', "1", "a", "\n"];

/** Returns a text of about this many octets. */
export type HostileText = (length: number) => string;

/** Returns texts that slow parsers struggle with: one part repeated, before and after another. */
export function hostileTexts(): HostileText[] {
  return units.flatMap((unit) => {
    const full = unit.repeat(Math.ceil(hostileLength / unit.length));
    const width = Buffer.byteLength(unit) / unit.length;
    const around = (prefix: string, suffix: string): HostileText => {
      return (length) => `${prefix}${full.slice(0, length / width - prefix.length - suffix.length)}${suffix}`;
    };
    return [
      ...suffixes.map((suffix) => around("", suffix)),
      ...prefixes.map((prefix, at) => around(prefix, suffixes[(at + unit.length) % suffixes.length]!)),
    ];
  });
}

const mostMilliseconds = 5;
const sampleLength = 4096;
const sampleMilliseconds = mostMilliseconds / 20;

/**
 * Returns true if work on 64 KiB takes more than 5 ms. Counts the best of several tries, because other programs use the
 * machine too. Measures a sixteenth of the text first. If that takes at most 0.25 ms, returns false, because the whole
 * text then takes less than 5 ms unless the time grows much faster than the text. If that takes more than 5 ms, skips
 * the first check of the whole text. The last check has more tries, and a limit that allows for a slow machine.
 */
export function isSlow(work: (length: number) => void): boolean {
  const sample = (): void => work(sampleLength);
  if (isWithin(sample, sampleMilliseconds)) return false;
  const whole = (): void => work(hostileLength);
  if (isWithin(sample, mostMilliseconds) && isWithin(whole, mostMilliseconds)) return false;
  return !isWithin(whole, mostMilliseconds * slowness(), 8);
}

function isWithin(work: () => void, milliseconds: number, tries = 3): boolean {
  let least = Infinity;
  for (let attempt = 0; attempt < tries && least > milliseconds; attempt++) {
    const before = performance.now();
    const used = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(used);
    // The clock also counts the time of other programs. Some kernels count the CPU time of a thread only in steps of 4
    // ms.
    least = Math.min(least, performance.now() - before, (user + system) / 1000 || Infinity);
    // Stops, because more tries do not help if the time is far beyond the limit.
    if (least > (attempt === 0 ? 100 : 20) * milliseconds) return false;
  }
  return least <= milliseconds;
}

/** Removes all matches of a global pattern from the text. Tests the text once with any other pattern. */
export function usePattern(regex: RegExp, text: string): void {
  regex.lastIndex = 0;
  if (regex.global) text.replace(regex, "");
  else regex.test(text);
  regex.lastIndex = 0;
}
