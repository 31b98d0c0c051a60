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
  // Marks on one letter, out of their order.
  "\u0315\u0300",
];

const prefixes = ["a=", '"', "a=b ", "0.", "1.", "a", "/", "lk_", "<", "[", "a/b; q=", "[IPv6:"];
const suffixes = ["", "\u0000", "!", '"', "1", "a", "\n"];

/** A text of about so many octets. */
export type HostileText = (length: number) => string;

/** Texts that slow readers choke on: one thing over and over, behind and before something else. */
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
 * Whether 64 KiB take more than 5 ms, by the best of some tries: others use the machine as well. A sixteenth is tried first. What
 * takes no more than a twentieth of the time for it is only slow if it grows much faster than its text, and what takes all of the
 * time for it need not be tried with more.
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
    // Others take time by the clock; the kernel of some machines counts a thread's own in steps of 4 ms.
    least = Math.min(least, performance.now() - before, (user + system) / 1000 || Infinity);
    // Far beyond it, another try would not help.
    if (least > (attempt === 0 ? 100 : 20) * milliseconds) return false;
  }
  return least <= milliseconds;
}
