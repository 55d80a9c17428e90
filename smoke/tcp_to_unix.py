"""Carries TCP connections to a Unix socket: tcp_to_unix.py SOCKET; prints the port it listens on."""

import asyncio
import sys


async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def accept(reader, writer):
    from_socket, to_socket = await asyncio.open_unix_connection(sys.argv[1])
    await asyncio.gather(carry(reader, to_socket), carry(from_socket, writer), return_exceptions=True)


async def main():
    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
