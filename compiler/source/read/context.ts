/**
 * The state of one reading of a schema: the source, the texts and positions of its files, and the diagnostics found so
 * far.
 */
import {
  type Diagnostic,
  type DiagnosticCode,
  type DiagnosticParameters,
  diagnostic,
} from "../../diagnostics/index.js";
import type { Position } from "../../model/index.js";
import type { Span, TypeSource } from "../type-source.js";

export class ReadContext {
  readonly source: TypeSource;
  #diagnostics: Diagnostic[] = [];
  readonly #lines = new Map<string, readonly number[]>();

  constructor(source: TypeSource) {
    this.source = source;
  }

  /** The diagnostics found so far. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  note(...found: readonly Diagnostic[]): void {
    this.#diagnostics.push(...found);
  }

  /** Runs `read` and returns only the diagnostics that `read` reported. They are not added to those found before. */
  collect(read: () => void): readonly Diagnostic[] {
    const before = this.#diagnostics;
    this.#diagnostics = [];
    try {
      read();
      return this.#diagnostics;
    } finally {
      this.#diagnostics = before;
    }
  }

  scope(file: string): FileScope {
    return new FileScope(this, file);
  }

  position(file: string, offset: number): Position {
    const starts = this.#lineStarts(file);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { file, line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  text(file: string, { start, end }: Span): string {
    return this.source.text(file).slice(start, end);
  }

  #lineStarts(file: string): readonly number[] {
    const known = this.#lines.get(file);
    if (known !== undefined) return known;
    const starts = [0];
    const ends = /\r\n|[\n\r\u2028\u2029]/g;
    const text = this.source.text(file);
    while (ends.exec(text) !== null) starts.push(ends.lastIndex);
    this.#lines.set(file, starts);
    return starts;
  }
}

/** One schema file during reading. Reports diagnostics with positions in this file. */
export class FileScope {
  readonly context: ReadContext;
  readonly file: string;

  constructor(context: ReadContext, file: string) {
    this.context = context;
    this.file = file;
  }

  at({ start }: Span): Position {
    return this.context.position(this.file, start);
  }

  /** Returns the source text of a span on one line, cut to 78 characters if it is longer than 80. */
  text(span: Span): string {
    const text = this.context.text(this.file, span).replace(/\s+/g, " ");
    return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
  }

  report<Code extends DiagnosticCode>(span: Span, code: Code, parameters: DiagnosticParameters<Code>): Diagnostic {
    const found = diagnostic(code, this.at(span), parameters);
    this.context.note(found);
    return found;
  }
}
