# expect: toctou
from concurrent.futures import ThreadPoolExecutor


class Database:
    _connection = None

    @classmethod
    def connection(cls, connect):
        if cls._connection is None:
            cls._connection = connect()  # HERE
        return cls._connection


def query(sql):
    return Database.connection(object)


with ThreadPoolExecutor(8) as pool:
    print(list(pool.map(query, ["select 1"] * 8)))
