/**
 * The watcher: a tiny `/bin/sh` process that outlives this one for as long as it takes to see that nothing else does.
 * It reads registrations from a pipe. When the pipe ends, because this process has ended in whatever way, it wakes
 * what was stopped, gives the registered process groups a moment to see the end of their links and leave by
 * themselves, and kills the rest. It runs in a session of its own, so that no Ctrl-C reaches it, and it needs neither
 * an addon nor this process's cooperation: kill -9, a crash and a clean exit are the same to it.
 *
 * It does not watch the children: a process learns of its child's end from the child's link and exit status.
 */
import type { ChildProcess } from "node:child_process";
import { lazyModules } from "../../lazy-modules.js";

/** Something that kills watchers for good is stronger. */
const maxStarts = 8;

/** How long registered groups have to leave by themselves after the end of this process, in steps of 50 ms. */
const graceSteps = 20;

/**
 * `+ group` and `- group` add and remove a process group, `d path` names the directory to remove in the end. The
 * group ids are those of children that this process has not yet reaped, so that none can be taken by a stranger.
 */
const script = `
trap '' INT TERM HUP QUIT TSTP
groups=' ' dir=
while IFS=' ' read -r op value; do
  case $op in
    +) groups="$groups$value " ;;
    -) case $groups in *" $value "*) groups="\${groups%%" $value "*} \${groups#*" $value "}" ;; esac ;;
    d) dir=$value ;;
  esac
done
for group in $groups; do kill -s CONT -- "-$group"; done
step=0
while [ $step -lt ${graceSteps} ]; do
  left=
  for group in $groups; do if kill -s 0 -- "-$group"; then left="$left $group"; fi; done
  groups=$left
  if [ -z "$groups" ]; then break; fi
  sleep 0.05 || sleep 1
  step=$((step + 1))
done
for group in $groups; do kill -s KILL -- "-$group"; done
if [ -n "$dir" ]; then rm -rf -- "$dir"; fi
`;

/** Sees to it that registered process groups and directories do not outlive this process. */
export class OrphanReaper {
  readonly #groups = new Set<number>();
  #directory: string | undefined;
  #starts = 0;
  #starting = false;
  #shell: ChildProcess | undefined;
  #closed = false;

  /** The watcher's process id, while it runs. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** Registers the process group led by a child of this process, as soon as it has been spawned. */
  add(group: number): void {
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  /** Forgets a group: its leader has ended and the rest of it was killed. */
  remove(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`- ${group}\n`);
  }

  /** Has a directory removed when everything else is gone. A path with a line break in it is refused. */
  removeAtEnd(directory: string): void {
    if (directory.includes("\n"))
      throw new Error(`cannot watch a directory: its path has a line break, got ${directory}`);
    this.#directory = directory;
    this.#tell(`d ${directory}\n`);
  }

  /** Does now what would be done at the end of this process: ends what is registered, and removes the directory. */
  close(): void {
    this.#closed = true;
    this.#shell?.stdin?.end();
  }

  #tell(line: string): void {
    if (this.#closed) return;
    if (this.#shell !== undefined) this.#shell.stdin?.write(line);
    else if (!this.#starting) {
      this.#starting = true;
      // After the code that is running has started its processes. What they are told to do is sent later still, and a
      // process that has been told nothing ends with its link.
      queueMicrotask(() => this.#start());
    }
  }

  #start(): void {
    this.#starting = false;
    if (this.#starts === maxStarts) return;
    const shell = lazyModules.childProcess.spawn("/bin/sh", ["-c", script, "viceroy-watcher"], {
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#shell = shell;
    this.#starts++;
    shell.unref();
    (shell.stdin as unknown as { unref?: () => void } | null)?.unref?.();
    shell.stdin?.on("error", () => {});
    shell.once("error", (cause) => {
      this.#shell = undefined;
      process.emitWarning(`cannot start the watcher of child processes: ${cause.message}`, "ViceroyWarning");
    });
    // Someone killed it: the next one knows everything that this one knew.
    shell.once("exit", () => {
      this.#shell = undefined;
      if (this.#groups.size > 0 && !this.#closed) this.#start();
    });
    const known = [...this.#groups].map((group) => `+ ${group}\n`);
    if (this.#directory !== undefined) known.push(`d ${this.#directory}\n`);
    shell.stdin?.write(known.join(""));
    if (this.#closed) shell.stdin?.end();
  }
}
