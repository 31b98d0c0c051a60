import type { Plan } from "./names.ts";

/** The permissions of the template for each answer that changes them, as `latchkey prove --lock` writes them. */
export type Locks = Readonly<Record<string, string>>;

/** Returns the name of a plan in `Locks`. */
export function nameLock({ login, signUp, teams }: Pick<Plan, "login" | "signUp" | "teams">): string {
  return [login, ...(signUp ? ["sign-up"] : []), ...(teams ? ["teams"] : [])].join(" ");
}

/** Returns the permissions of a project: the section of the books is about its resource, and at its place. */
export function fillLock(lock: string, plural: string): string {
  const [head, ...sections] = lock.trimEnd().split("\n\n");
  const books = sections.findIndex((section) => resourceOf(section) === "books");
  const others = sections.toSpliced(books, 1);
  const place = others.findIndex((section) => {
    const name = resourceOf(section);
    return name === null || name > plural;
  });
  const own = sections[books]!.replaceAll(/\bbooks\b/g, () => plural);
  return `${[head, ...others.toSpliced(place, 0, own)].join("\n\n")}\n`;
}

/** Returns the resource of a section. The last section has the endpoints, and no resource. */
function resourceOf(section: string): string | null {
  return / may list (.+?)(?:, if .*)?$/m.exec(section)?.[1] ?? null;
}
