/** A change of a schema with a title, and short ways to write schemas. */
import type { SchemaTexts, StateOptions } from "../states.js";

export interface Case extends StateOptions {
  readonly title: string;
  readonly older: SchemaTexts;
  readonly newer: SchemaTexts;
}

/** Edits a lock, as somebody does by hand. */
export function replaced(from: string, to: string): (text: string) => string {
  return (text) => {
    if (text.includes(from)) return text.replace(from, to);
    throw new Error(`cannot edit the lock: it has no ${JSON.stringify(from)}\n${text}`);
  };
}

export function without(line: string): (text: string) => string {
  return replaced(line, "");
}

export function interfaceOf(name: string, fields: string): string {
  return `export interface ${name} {\n  ${fields}\n}\n`;
}

export function tree(fields: string): string {
  return interfaceOf("Tree", fields);
}

export function actor(endpoint: string, args = ""): string {
  return `export interface Clock extends Actor${args} {\n  ${endpoint}\n}\n`;
}

/** Another actor beside the clock. */
export function watch(endpoint: string): string {
  return actor(endpoint).replace("Clock", "Watch");
}

/** A task. `signature` contains its arguments and its result: `[n: number], number`. */
export function task(signature: string, name = "Square"): string {
  return `export interface ${name} extends Task<${signature}> {}\n`;
}
