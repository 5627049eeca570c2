/**
 * Folds the output of many ranks: equal lines of several processes become one line with their ranks, such as
 * `trainers[0-3] epoch 1`. The lines of each process keep their order.
 */

/** A line of a host, or of a process on it. */
export interface HostLine {
  readonly mesh: string;
  readonly rank: number;
  readonly line: string;
}

/** One printed line, and the processes that have printed it. */
interface FoldedLine {
  readonly mesh: string;
  readonly text: string;
  /** The processes by rank of the host and label. */
  readonly from: Map<string, { readonly rank: number; readonly label: string }>;
  next: FoldedLine | undefined;
}

/** Maximum number of lines that are kept. The memory for lines is bounded; more lines are printed earlier. */
const maxLines = 20_000;

/** Maximum number of lines among which an equal one is searched. */
const maxSearched = 2000;

/** The name of the process that the daemon of its host has put before a line. */
const labelled = /^\[([^\]]*)\] (.*)$/s;

export class RankFolder {
  readonly #print: (line: string) => void;
  /** The lines in the order in which they will be printed: a list that starts with this one, which is none. */
  readonly #start: FoldedLine = { mesh: "", text: "", from: new Map(), next: undefined };
  #last = this.#start;
  /** By mesh, the line after which the first line of another process is put, unless it is equal to one. */
  readonly #fronts = new Map<string, FoldedLine>();
  #size = 0;
  /** The last line of each process. */
  readonly #latest = new Map<string, FoldedLine>();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  add({ mesh, rank, line }: HostLine): void {
    const [, label = "", text = line] = labelled.exec(line) ?? [];
    const process = `${mesh} ${rank} ${label}`;
    const latest = this.#latest.get(process);
    let folded = findEqual((latest ?? this.#start).next, mesh, text, process);
    if (folded === undefined) {
      const after = latest ?? this.#fronts.get(mesh) ?? this.#last;
      folded = { mesh, text, from: new Map(), next: after.next };
      after.next = folded;
      if (after === this.#last) this.#last = folded;
      if (latest === undefined) this.#fronts.set(mesh, folded);
      this.#size++;
    }
    folded.from.set(process, { rank, label });
    this.#latest.set(process, folded);
    if (this.#size >= maxLines) this.flush();
  }

  /** Prints the lines that have been added. Later lines are not folded with them. */
  flush(): void {
    for (let line = this.#start.next; line !== undefined; line = line.next) this.#print(formatFolded(line));
    this.#start.next = undefined;
    this.#last = this.#start;
    this.#fronts.clear();
    this.#size = 0;
    this.#latest.clear();
  }
}

/**
 * Finds a line that another process has printed. Only lines after the latest one of the process are searched, so that its
 * lines keep their order.
 */
function findEqual(from: FoldedLine | undefined, mesh: string, text: string, process: string): FoldedLine | undefined {
  let line = from;
  for (let i = 0; i < maxSearched && line !== undefined; i++) {
    if (line.text === text && line.mesh === mesh && !line.from.has(process)) return line;
    line = line.next;
  }
  return undefined;
}

function formatFolded({ mesh, text, from }: FoldedLine): string {
  const processes = [...from.values()];
  const ranks = [...new Set(processes.map(({ rank }) => rank))].sort((left, right) => left - right);
  const { label } = processes[0]!;
  const several = processes.length > ranks.length ? `[${processes.length} processes] ` : "";
  const origin = processes.length > 1 || label === "" ? several : `[${label}] `;
  return `${mesh}[${formatRanks(ranks)}] ${origin}${text}`;
}

/** Returns sorted ranks as text: `0-3,7`. */
function formatRanks(ranks: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < ranks.length; i++) {
    const first = ranks[i]!;
    while (ranks[i + 1] === ranks[i]! + 1) i++;
    parts.push(ranks[i] === first ? `${first}` : `${first}-${ranks[i]}`);
  }
  return parts.join(",");
}
