/** Writes rows until it is killed, eight at a time, and prints the key of each one once it is acknowledged. */
import { openStore } from '../../src/store/open.ts';

const [url, prefix] = process.argv.slice(2);
const db = await openStore(url!);

async function write(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const key = `${prefix}-${writer}-${count}`;
    await db.run('insert into channel_state (channel, key, value) values (?, ?, ?)', 'c', key, 'v');
    process.stdout.write(`${key}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
