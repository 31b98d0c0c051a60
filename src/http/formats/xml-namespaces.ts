import { quoted } from "./text.ts";

const XML = "http://www.w3.org/XML/1998/namespace";
const XMLNS = "http://www.w3.org/2000/xmlns/";
const XSI = "http://www.w3.org/2001/XMLSchema-instance";

/** An attribute in the body. */
export interface Attribute {
  /** The name with its prefix. */
  readonly name: string;
  readonly value: string;
  readonly at: number;
}

interface Wrong {
  readonly wrong: string;
  readonly at: number;
}

/** The prefixes that are bound at the current position (Namespaces in XML §6.1). */
export class XMLScope {
  /**
   * Each prefix with its namespaces, the innermost last. Entering or leaving an element costs time only for the
   * prefixes that it declares.
   */
  readonly #bound = new Map<string, string[]>([["xml", [XML]]]);

  binds(prefix: string): boolean {
    return this.#namespace(prefix) !== undefined;
  }

  /**
   * Enters an element with these attributes. Returns true if they mark it as null. Returns the mistake if an attribute
   * is wrong.
   */
  enter(attributes: readonly Attribute[]): boolean | Wrong {
    for (const { name, value, at } of attributes) {
      if (!name.startsWith(DECLARES)) continue;
      const prefix = name.slice(DECLARES.length);
      if (value === "" || value === XMLNS || prefix === "xmlns" || (prefix === "xml") !== (value === XML))
        return { wrong: "A prefix cannot be bound to this namespace", at };
      const bindings = this.#bound.get(prefix);
      if (bindings === undefined) this.#bound.set(prefix, [value]);
      else bindings.push(value);
    }
    return this.#isNil(attributes);
  }

  leave(attributes: readonly Attribute[]): void {
    for (const { name } of attributes)
      if (name.startsWith(DECLARES)) this.#bound.get(name.slice(DECLARES.length))!.pop();
  }

  #isNil(attributes: readonly Attribute[]): boolean | Wrong {
    const seen = new Set<string>();
    let nil = false;
    for (const { name, value, at } of attributes) {
      const full = this.#fullName(name);
      if (full === null) return { wrong: `The prefix of ${quoted(name)} is not bound`, at };
      if (seen.has(full)) return { wrong: `The attribute ${quoted(name)} is given twice`, at };
      seen.add(full);
      if ((full === "nil" || full === `${XSI} nil`) && NIL.test(value)) nil = value === "true" || value === "1";
      else if (full !== "xmlns" && !IGNORED.some((start) => full.startsWith(start)))
        return { wrong: 'Only the attributes nil="true" and those of xmlns, xml and xsi are allowed', at };
    }
    return nil;
  }

  /**
   * Returns the namespace and the name. An attribute without a prefix has no namespace. Returns null if the prefix is
   * not bound.
   */
  #fullName(name: string): string | null {
    const colon = name.indexOf(":");
    if (colon === -1) return name;
    const prefix = name.slice(0, colon);
    const namespace = prefix === "xmlns" ? XMLNS : this.#namespace(prefix);
    return namespace === undefined ? null : `${namespace} ${name.slice(colon + 1)}`;
  }

  #namespace(prefix: string): string | undefined {
    return this.#bound.get(prefix)?.at(-1);
  }
}

const DECLARES = "xmlns:";
const NIL = /^(?:true|false|1|0)$/;
const IGNORED = [`${XMLNS} `, `${XML} `, `${XSI} `];
