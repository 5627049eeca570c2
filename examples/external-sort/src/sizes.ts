/** Numbers of bytes, as people write them. */

const units: Readonly<Record<string, number>> = {
  "": 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
};

/** @throws RangeError if the text is no number of bytes */
export function bytesOf(text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) {
    throw new RangeError(`expected a size such as 512MiB or 8GB, got ${JSON.stringify(text)}`);
  }
  return Math.round(Number(number) * factor);
}

export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
