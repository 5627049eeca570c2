/** Runs npm, which finds its registry and everything else in its own configuration. */
import { spawn } from "node:child_process";
import { errorMessage } from "../../../shared/text/error-message.js";

/** Number of the last lines of npm's errors that are shown. */
const shownLines = 8;

/**
 * Runs npm in a folder with a package.json, and waits for its end. Packages run no scripts of their own: an installation
 * is only the files of the packages.
 *
 * @param args the command of npm, and its options
 * @throws Error if npm cannot be started, or fails; the message has the end of what npm has printed
 */
export async function runNpm(folder: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
  const common = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--no-update-notifier"];
  const argv = [...args, ...common, "--loglevel=error", "--global=false", `--prefix=${folder}`];
  const child = spawn("npm", argv, {
    cwd: folder,
    env: npmEnv(process.env),
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal }),
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => said.push(chunk));
  const code = await new Promise<number | string>((done, fail) => {
    child.once("error", (cause: NodeJS.ErrnoException) =>
      fail(cause.code === "ENOENT" ? new Error("the program npm is not on this host", { cause }) : cause),
    );
    child.once("close", (exitCode, by) => done(exitCode ?? `signal ${by}`));
  }).catch((cause) => {
    if (signal?.aborted) throw signal.reason;
    throw new Error(`cannot run npm: ${errorMessage(cause)}`, { cause });
  });
  if (code === 0) return;
  const lines = Buffer.concat(said)
    .toString()
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!) ?/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("A complete log of this run"));
  throw new Error(`npm ${args[0]} has ended with ${code}: ${lines.slice(-shownLines).join("\n")}`);
}

/**
 * Returns the environment of npm. Programs that npm itself has started have variables about their own package, and options
 * of Node.js that are for the program.
 */
function npmEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(
    ([name]) =>
      !/^npm_(?:package|lifecycle|command|execpath|node_execpath)|^npm_config_local_prefix$|^(?:INIT_CWD|NODE_OPTIONS)$/i.test(
        name,
      ),
  );
  return Object.fromEntries(own);
}
