/**
 * The lines of SkyPilot's log streams. Between the lines of text there are messages for its own client in the form `<sky-payload>JSON</sky-payload>`,
 * which say what the client's terminal shows as the state of the work.
 */
import { plainText } from "./skypilot-error.js";

/** A line of a log stream, without colours. */
export interface LogLine {
  /** `"status"`: what SkyPilot does at present, which the next such line replaces. `"text"`: a line of its output. */
  readonly kind: "status" | "text";
  readonly text: string;
}

const message = /<sky-payload[^>]*>(.*)<\/sky-payload>/;
const status = /^<rich_(init|start|update)>(.*)<\/rich_\1>$/s;
/** The styles of the library that prints the state: `[bold cyan]`, `[/]`. */
const style = /\[\/?[a-z# ]*\]/g;

/** Reads a line; undefined if it has nothing for a user. */
export function readLogLine(line: string): LogLine | undefined {
  const payload = message.exec(line)?.[1];
  if (payload === undefined) {
    // A progress bar writes its line again and again. The last one counts.
    const text = plainText(line.trimEnd().split("\r").at(-1)!);
    return text === "" ? undefined : { kind: "text", text };
  }
  const [first] = plainText(statusOf(payload).replaceAll(style, "")).split("\n");
  const text = first!.replaceAll(/\s+/g, " ");
  return text === "" ? undefined : { kind: "status", text };
}

function statusOf(payload: string): string {
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === "string" ? (status.exec(value)?.[2] ?? "") : "";
  } catch {
    return "";
  }
}
