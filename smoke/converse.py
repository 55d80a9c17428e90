"""Says so many words to an echo server at ADDRESS PORT, over one connection; each must come back."""
import socket
import sys

address, port, words = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = socket.create_connection((address, port), timeout=20)
for number in range(words):
    word = f"{number:08}".encode()
    connection.sendall(word)
    answer = b""
    while len(answer) < len(word):
        more = connection.recv(64)
        if not more:
            sys.exit(f"the connection ended at word {number}")
        answer += more
    if answer != word:
        sys.exit(f"{answer} came back for {word}")
