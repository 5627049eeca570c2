/** A command of this machine whose files were brought to another one. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type CodePlace, locatePath } from "../kernel.js";

/** The program with its arguments, and the working directory. */
export interface MovableCommand {
  readonly command: readonly string[];
  readonly cwd: string;
}

/** Returns the files of this machine that the words of a command name. */
export function filesOfCommand({ command, cwd }: MovableCommand): string[] {
  const isFile = (file: string) => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return command.map((word) => resolve(cwd, word)).filter(isFile);
}

/** Returns a command with the paths that its files have on the other machine. @param place where the code is there */
export function moveCommand(
  { command, cwd }: MovableCommand,
  { places, cwd: usual }: CodePlace,
): { readonly command: string[]; readonly cwd: string } {
  const moved = command.map((word) => (isAbsolute(word) ? locatePath(word, places) : word));
  const isUsual = cwd === process.cwd() && locatePath(cwd, places) === cwd;
  return { command: moved, cwd: isUsual ? usual : locatePath(cwd, places) };
}
