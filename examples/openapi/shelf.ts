// Reads all pages of a REST service and adds a book to it. The service loses its first answer to the
// new book; the call is sent again with the same idempotency key, so the book is there once.
//
//   python3 examples/openapi/library.py &
//   pml run --config examples/openapi/servers.json examples/openapi/shelf.ts

async function* allBooks(filter: { author?: string; since?: number }) {
  let cursor: string | undefined;
  do {
    const page = await tools.library.listBooks({ filter, limit: 5, ...(cursor && { cursor }) });
    yield* page.books;
    cursor = page.next_cursor;
  } while (cursor);
}

const added = await tools.library.addBook({ body: { title: "Notes", author: "Ada Lovelace", year: 1991 } });
const titles: string[] = [];
for await (const book of allBooks({ author: "Ada Lovelace", since: 1960 })) titles.push(book.title);
export default { added: added.title, titles };
