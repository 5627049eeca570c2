/** The hosts of a run that have announced themselves, and those who wait for them. */
import { abortable } from "../../../link/abortable.js";
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import type { Announcement } from "../machine/host-lines.js";

export class KnownHosts {
  readonly #hosts = new Map<string, Announcement>();
  readonly #waiting = new Set<() => void>();

  /** Takes an announcement. Those of hosts that were replaced since are ignored. */
  add(announcement: Announcement): void {
    const known = this.get(announcement);
    if (known !== undefined && known.incarnation > announcement.incarnation) return;
    this.#hosts.set(formatPlace(announcement), announcement);
    this.wake();
  }

  get(place: HostPlace): Announcement | undefined {
    return this.#hosts.get(formatPlace(place));
  }

  get all(): readonly Announcement[] {
    return [...this.#hosts.values()];
  }

  /** Makes all who wait look again. */
  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const look of waiting) look();
  }

  /** Resolves with what `find` returns as soon as that is not undefined. @throws what `find` throws, and the reason of `signal` */
  async until<T>(find: () => T | undefined, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const found = find();
      if (found !== undefined) return found;
      await abortable(new Promise<void>((resolve) => this.#waiting.add(resolve)), signal);
    }
  }
}
