/** Joins words to a type name: `order_items` gives `OrderItems`, `/api/token/` gives `ApiToken`. */
export function pascalCase(...words: readonly string[]): string {
  return words
    .flatMap((each) => each.split(/[^A-Za-z0-9]+/))
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}

/** Returns a function that issues each name once: a second `User` becomes `User2`. */
export function uniqueNames(taken: readonly string[] = []): (wanted: string) => string {
  const issuedNames = new Set(taken);
  return (wanted) => {
    let name = wanted;
    for (let count = 2; issuedNames.has(name); count++) name = `${wanted}${count}`;
    issuedNames.add(name);
    return name;
  };
}
