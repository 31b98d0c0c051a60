import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync } from "oxc-parser";

/** One change of a condition. */
export interface Condition {
  /** Relative to the root. */
  readonly file: string;
  readonly line: number;
  /** The function, the code, and the code that replaces it. Unique in the file. */
  readonly change: string;
  readonly start: number;
  readonly end: number;
  /** Null if a statement is left out. */
  readonly instead: string | null;
}

/** Which conditions of a file are changed: all, or per function all (`true`) or those whose text matches. */
export type Selection = "all" | Readonly<Record<string, true | RegExp>>;

/** A node of the syntax tree. Its members are visited without knowledge of its type. */
interface Part {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

interface Place {
  /** The function or constant of the file, or the method, that contains the node. */
  readonly within: string;
  /** True if the function around the node returns a boolean by its declaration. */
  readonly returnsTruth: boolean;
  /** The text of the whole condition that the node is a part of. Null if it is part of none. */
  readonly whole: string | null;
}

/** Array methods whose argument decides about each element. */
const deciding = new Set(["filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex"]);

/** Nodes whose parts belong to the same condition. */
const joining = new Set([
  "LogicalExpression",
  "ConditionalExpression",
  "UnaryExpression",
  "BinaryExpression",
  "ParenthesizedExpression",
]);

/** Nodes that are no boolean, or a constant one. */
const undecided = new Set(["Literal", "ArrowFunctionExpression", "FunctionExpression", "AssignmentPattern"]);

/** Names of constants and members that contain a boolean. */
const truthName = /^(is|has|may|can)[A-Z]/;

/**
 * Returns the changes of the selected conditions of a file, one for each. A test, a predicate and a returned or named
 * boolean becomes `true`, and `false`. An operand of `&&`, `||` or `??` is left out. A call that is a statement is left
 * out too. Throws an error if a selected function contains no such condition.
 */
export function collectConditions(root: string, file: string, selection: Selection): readonly Condition[] {
  const source = readFileSync(path.join(root, file), "utf8");
  const collector = new Collector(file, source, selection);
  const { program } = parseSync(file, source);
  collector.visit(program as unknown as Part, { within: "", returnsTruth: false, whole: null });
  const missing = selection === "all" ? [] : Object.keys(selection).filter((name) => !collector.used.has(name));
  if (missing.length > 0) throw new Error(`${file}: no condition of ${missing.join(", ")} is found. Name them anew.`);
  return collector.conditions;
}

class Collector {
  readonly conditions: Condition[] = [];
  /** The functions in which a selected condition was found. */
  readonly used = new Set<string>();
  readonly #times = new Map<string, number>();
  readonly #file: string;
  readonly #source: string;
  readonly #selection: Selection;

  constructor(file: string, source: string, selection: Selection) {
    this.#file = file;
    this.#source = source;
    this.#selection = selection;
  }

  visit(node: Part, outer: Place): void {
    if (isOnlyType(node)) return;
    const place = this.#placeOf(node, outer);
    this.#change(node, place);
    for (const value of Object.values(node).flat()) if (isPart(value)) this.visit(value, place);
  }

  #placeOf(node: Part, { within, returnsTruth, whole }: Place): Place {
    const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
    const isBody = node.type === "ArrowFunctionExpression" && node["expression"] === true;
    const isWhole = joining.has(node.type) || isDecision(node);
    return {
      within: within === "" || node.type === "MethodDefinition" ? nameOf(node) : within,
      returnsTruth: isFunction ? this.#declaresTruth(node) : returnsTruth,
      whole: isWhole ? (whole ?? this.#text(node)) : isBody ? whole : null,
    };
  }

  #declaresTruth({ returnType }: Part): boolean {
    return isPart(returnType) && /^: (boolean|Promise<boolean>|\w+ is )/.test(this.#text(returnType));
  }

  #change(node: Part, place: Place): void {
    const { test, argument, body, id, init, key, value } = node as Part & Readonly<Record<string, Part>>;
    switch (node.type) {
      case "IfStatement":
      case "ConditionalExpression":
      case "WhileStatement":
        return this.#decide(test!, place);
      case "ReturnStatement":
        return place.returnsTruth ? this.#decide(argument!, place) : undefined;
      case "ArrowFunctionExpression":
        return place.returnsTruth && node["expression"] === true ? this.#decide(body!, place) : undefined;
      case "VariableDeclarator":
        return isPart(init) && truthName.test(String(id!["name"])) ? this.#decide(init, place) : undefined;
      case "Property":
        return truthName.test(String(key!["name"])) && node["shorthand"] === false
          ? this.#decide(value!, place)
          : undefined;
      case "CallExpression":
        return isDecision(node) ? this.#predicate((node["arguments"] as readonly Part[])[0]!, place) : undefined;
      case "LogicalExpression":
        return this.#operands(node, place);
      case "ExpressionStatement":
        return this.#statement(node, place);
    }
  }

  #decide(test: Part, place: Place): void {
    if (test.type === "ParenthesizedExpression" || test.type === "UnaryExpression")
      return this.#decide((test["expression"] ?? test["argument"]) as Part, place);
    if (undecided.has(test.type) || (isDecision(test) && /^(some|every)$/.test(methodOf(test)))) return;
    // For the other value, an operand is left out.
    if (test["operator"] !== "||") this.#add(test, "false", place);
    if (test["operator"] !== "&&") this.#add(test, "true", place);
  }

  #predicate(predicate: Part, place: Place): void {
    if (predicate.type === "ArrowFunctionExpression" && predicate["expression"] === true)
      return this.#decide(predicate["body"] as Part, place);
    this.#add(predicate, "() => false", place);
    this.#add(predicate, "() => true", place);
  }

  #operands(node: Part, place: Place): void {
    const { left, right, operator } = node as Part & { readonly left: Part; readonly right: Part };
    this.#add(node, this.#text(left), place);
    // The operands of `a && b` in `a && b && c` are left out one by one too.
    if (left["operator"] !== operator) this.#add(node, this.#text(right), place);
  }

  #statement(node: Part, place: Place): void {
    const expression = node["expression"] as Part;
    const call = expression.type === "AwaitExpression" ? (expression["argument"] as Part) : expression;
    if (call.type === "CallExpression") this.#add(node, null, place);
  }

  #add({ start, end }: Part, instead: string | null, { within, whole }: Place): void {
    const was = this.#source.slice(start, end);
    const change = `${within}: ${onOneLine(was)} => ${instead === null ? "nothing" : onOneLine(instead)}`;
    const times = (this.#times.get(change) ?? 0) + 1;
    this.#times.set(change, times);
    if (!this.#selects(within, whole ?? was)) return;
    this.used.add(within);
    this.conditions.push({
      file: this.#file,
      line: this.#source.slice(0, start).split("\n").length,
      change: times === 1 ? change : `${change} (${times})`,
      start,
      end,
      instead,
    });
  }

  #selects(within: string, text: string): boolean {
    if (this.#selection === "all") return true;
    const pattern = Object.hasOwn(this.#selection, within) ? this.#selection[within]! : false;
    return pattern instanceof RegExp ? pattern.test(text) : pattern;
  }

  #text({ start, end }: Part): string {
    return this.#source.slice(start, end);
  }
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Returns true for a type, which does not exist when the program runs. */
function isOnlyType({ type }: Part): boolean {
  return type.startsWith("TS") && !/^TS(As|NonNull|Satisfies)Expression$/.test(type);
}

/** Returns true for a call of an array method with a predicate. `find` of a store gets an id. */
function isDecision(node: Part): boolean {
  if (node.type !== "CallExpression") return false;
  const [predicate] = node["arguments"] as readonly Part[];
  if (predicate === undefined || !deciding.has(methodOf(node))) return false;
  return predicate.type === "ArrowFunctionExpression" || (predicate.type === "Identifier" && methodOf(node) !== "find");
}

/** Returns the name of the method that a call calls. Empty for a function. */
function methodOf(call: Part): string {
  const { type, property } = call["callee"] as Part & { readonly property?: Part };
  return type === "MemberExpression" ? String(property!["name"]) : "";
}

function nameOf({ type, id, key }: Part): string {
  if (type === "MethodDefinition") return String((key as Part)["name"]);
  return /^(FunctionDeclaration|VariableDeclarator)$/.test(type) ? String((id as Part)["name"]) : "";
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
