/** Prints what is added to a file until something has ended. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { LineSplitter } from "../../line-splitter.js";

/** Time in ms between two looks at the file. */
const lookMs = 200;
const partSize = 65_536;

/** @param isFromStart whether what the file has now is printed, too */
export async function followLog(
  file: string,
  isFromStart: boolean,
  ended: Promise<void>,
  print: (line: string) => void,
): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const opened = openSync(file, "r");
  let position = isFromStart ? 0 : statSync(file).size;
  const splitter = new LineSplitter(print);
  const part = Buffer.alloc(partSize);
  for (;;) {
    // What was written before the end is read after it.
    const isLast = isOver;
    for (;;) {
      const length = readSync(opened, part, 0, part.length, position);
      if (length === 0) break;
      position += length;
      splitter.add(part.subarray(0, length));
    }
    if (isLast) break;
    await pause(lookMs);
  }
  splitter.end();
  closeSync(opened);
}
