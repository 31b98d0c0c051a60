import { valueOfJSON } from "../../core/exact-numbers.ts";
import type { Value } from "../store.ts";

const booleanOID = 16;
const bigintOID = 20;
const integerOID = 23;
const jsonOID = 114;
const doubleOID = 701;

/** Converts the text that PostgreSQL sends to a value, for the types of the store's columns. Other types stay text. */
export const decoders = {
  getTypeParser(oid: number): (text: string) => Value {
    switch (oid) {
      case bigintOID:
      case integerOID:
      case doubleOID:
        return Number;
      case booleanOID:
        return (text) => text === "t";
      case jsonOID:
        return (text) => valueOfJSON(text) as Value;
      default:
        return (text) => text;
    }
  },
};
