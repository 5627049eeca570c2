/**
 * The orphan reaper, also called the watcher: a small `/bin/sh` process that outlives this process until nothing that
 * was registered is left. It reads registrations from a pipe. When the pipe ends, because this process has ended in any
 * way, the watcher wakes the registered process groups that were stopped, gives all groups a moment to see the end of
 * their links and leave, and kills the rest. It runs in a session of its own, so that Ctrl-C does not reach it. It
 * needs neither an addon nor the cooperation of this process, so it works the same after `kill -9`, a crash and a clean
 * exit. Control groups of this process are removed when the processes in them have ended.
 *
 * The watcher does not watch the children: a process learns of a child's exit from the child's link and exit status.
 */
import type { ChildProcess } from "node:child_process";
import { lazyModules } from "../../lazy-modules.js";

/** Maximum number of starts. If watchers are killed this often, another start will not help. */
const maxStarts = 8;

/** Number of steps of 50 ms that registered groups have for leaving by themselves after the end of this process. */
const graceSteps = 20;

/**
 * The script of the watcher. `+ group` and `- group` add and remove a process group; `d path` names the directory to
 * remove at the end, `c path` the folder of control groups, and `m text` the mark of processes that may be in other groups: they
 * have a variable of the environment that begins with it. The ids of process groups are those of children that this
 * process has not reaped yet, so the system cannot reuse them.
 */
const script = `
trap '' INT TERM HUP QUIT TSTP
groups=' ' dir= control= mark=
while IFS=' ' read -r op value; do
  case $op in
    +) groups="$groups$value " ;;
    -) case $groups in *" $value "*) groups="\${groups%%" $value "*} \${groups#*" $value "}" ;; esac ;;
    d) dir=$value ;;
    c) control=$value ;;
    m) mark=$value ;;
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
if [ -n "$mark" ]; then
  for file in /proc/[0-9]*/environ; do
    if grep -qz "^$mark" "$file"; then file=\${file%/environ}; kill -s KILL "\${file#/proc/}"; fi
  done
fi
if [ -n "$dir" ]; then rm -rf -- "$dir"; fi
step=0
while [ -n "$control" ] && [ -d "$control" ] && [ $step -lt ${graceSteps} ]; do
  rmdir -- "$control"/*/*/*/ "$control"/*/*/ "$control"/*/ "$control"
  sleep 0.05 || sleep 1
  step=$((step + 1))
done
`;

/** Ends registered process groups, and removes a registered directory, after the end of this process. */
export class OrphanReaper {
  readonly #groups = new Set<number>();
  #directory: string | undefined;
  #controlGroups: string | undefined;
  #mark: string | undefined;
  #starts = 0;
  #starting = false;
  #shell: ChildProcess | undefined;
  #closed = false;

  /** The process id of the watcher while it runs. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /**
   * Registers a process group that a child of this process leads. To be called as soon as the child has been spawned.
   */
  add(group: number): void {
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  /** Forgets a group after its leader has ended and the rest of the group was killed. */
  remove(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`- ${group}\n`);
  }

  /** Registers a directory for removal when all groups are gone. @throws Error if the path contains a line break */
  removeAtEnd(directory: string): void {
    if (directory.includes("\n"))
      throw new Error(`cannot watch a directory: its path has a line break, got ${directory}`);
    this.#directory = directory;
    this.#tell(`d ${directory}\n`);
  }

  /** Registers a folder of control groups for removal when their processes have ended. */
  removeGroupsAtEnd(folder: string): void {
    if (this.#controlGroups === folder || folder.includes("\n")) return;
    this.#controlGroups = folder;
    this.#tell(`c ${folder}\n`);
  }

  /** Registers the mark of processes that are killed at the end. @param mark letters, digits, and `_=/-` */
  killMarkedAtEnd(mark: string): void {
    if (this.#mark === mark) return;
    this.#mark = mark;
    this.#tell(`m ${mark}\n`);
  }

  /** Ends the registered groups and removes the directory now, as at the end of this process. */
  close(): void {
    this.#closed = true;
    this.#shell?.stdin?.end();
  }

  #tell(line: string): void {
    if (this.#closed) return;
    if (this.#shell !== undefined) this.#shell.stdin?.write(line);
    else if (!this.#starting) {
      this.#starting = true;
      // The watcher starts after the running code has started its processes. Their orders are sent even later, and a
      // process without orders ends with its link.
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
    // The watcher was killed: a new one gets all registrations.
    shell.once("exit", () => {
      this.#shell = undefined;
      if (this.#groups.size > 0 && !this.#closed) this.#start();
    });
    const known = [...this.#groups].map((group) => `+ ${group}\n`);
    if (this.#directory !== undefined) known.push(`d ${this.#directory}\n`);
    if (this.#mark !== undefined) known.push(`m ${this.#mark}\n`);
    if (this.#controlGroups !== undefined) known.push(`c ${this.#controlGroups}\n`);
    shell.stdin?.write(known.join(""));
    if (this.#closed) shell.stdin?.end();
  }
}
