const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LOCAL_PART = new RegExp(`^(?:${ATEXT}(?:\\.${ATEXT})*|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*")$`);
const SUB_DOMAIN = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4_LITERAL = new RegExp(`^\\[${OCTET}(?:\\.${OCTET}){3}\\]$`);
const IPV6_LITERAL = /^\[IPv6:([0-9A-Fa-f:.]+)\]$/i;

/**
 * Returns true if the text is a mailbox of RFC 5321 §4.1.2: at most 64 octets before the @, 254 in total (§4.5.3.1,
 * erratum 1690 of RFC 3696). A quoted local part has no `<` and no `>`, no space at its ends, and no second pair of
 * quotes: programs that send mail change these characters, and the mail would go to another mailbox.
 */
export function isMailbox(text: string): boolean {
  if (text.length > 254) return false;
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64) return false;
  return isLocalPart(text.slice(0, at)) && isDomain(text.slice(at + 1));
}

function isLocalPart(text: string): boolean {
  if (!LOCAL_PART.test(text)) return false;
  const content = text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text;
  return content.trim() === content && !/[<>]|^".*"$/.test(content);
}

/**
 * Returns true for an address that no mailbox can have (RFC 2606 §2). The first administrator has such an address until
 * it is changed.
 */
export function isReserved(address: string): boolean {
  return address.toLowerCase().endsWith(".invalid");
}

function isDomain(domain: string): boolean {
  if (domain.startsWith("[")) return IPV4_LITERAL.test(domain) || isIPv6Literal(domain);
  return domain.split(".").every((label) => SUB_DOMAIN.test(label));
}

function isIPv6Literal(domain: string): boolean {
  const match = IPV6_LITERAL.exec(domain);
  return match !== null && URL.canParse(`http://[${match[1]}]/`);
}
