/** Tests of the lines of SkyPilot's log streams. */
import { expect, test } from "vitest";
import { readLogLine } from "../../runtime/job/skypilot/api/log-line.js";

test.each([
  ["a line without colours", "hello", { kind: "text", text: "hello" }],
  [
    "a line with colours",
    "\u001b[2m  Kubernetes: \u001b[32menabled\u001b[0m",
    { kind: "text", text: "Kubernetes: enabled" },
  ],
  ["the last state of a progress bar", "10%\r50%\r100%\r", { kind: "text", text: "100%" }],
  [
    "a state",
    '<sky-payload>"<rich_update>[bold cyan]Launching (1 pod pending)[/]</rich_update>"</sky-payload>',
    { kind: "status", text: "Launching (1 pod pending)" },
  ],
  [
    "a state of several lines",
    '<sky-payload>"<rich_init>[dim]Launching\\n\\nmore[/dim]</rich_init>"</sky-payload>',
    { kind: "status", text: "Launching" },
  ],
])("%s is read", (_name, line, expected) => {
  expect(readLogLine(line)).toEqual(expected);
});

test.each([
  ["an empty line", ""],
  ["colours alone", "\u001b[2m\u001b[0m"],
  ["a sign of life", '<sky-payload>"<heartbeat></heartbeat>"</sky-payload>'],
  ["the end of a state", '<sky-payload>"<rich_stop></rich_stop>"</sky-payload>'],
  ["a message of another kind", '<sky-payload type="x">{"a": 1}</sky-payload>'],
  ["a message that is no JSON", "<sky-payload>{</sky-payload>"],
  ["a state without words", '<sky-payload>"<rich_start>[bold][/]</rich_start>"</sky-payload>'],
])("%s has nothing for a user", (_name, line) => {
  expect(readLogLine(line)).toBeUndefined();
});
